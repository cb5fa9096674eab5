"""Cells over OPC UA: one small information model, a client that is a cell controller, and a simulated PLC."""
