"""Hosts on other engines, with real databases and real processes."""
