"""A job service on turnlatch. Everything about a run is decided by the core; this is the host around it."""
