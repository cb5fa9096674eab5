"""Traffic: who may stand and drive where, so that no two robots ever need the same ground (`trafficMode: RESERVE`)."""
