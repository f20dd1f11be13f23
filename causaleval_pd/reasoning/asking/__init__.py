"""Asking a reasoner: endpoints, calls with retries and a cache, reading of replies."""
