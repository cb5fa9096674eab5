"""VDA 5050: vehicles of any maker over an MQTT broker; Beforehand is their master control."""
