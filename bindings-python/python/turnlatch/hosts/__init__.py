"""Hosts on other people's engines, for when one machine is too small. Each needs an extra of the package."""
