"""Keeps a session of some 16 KB of each request."""
import time

sessions = {}


def remember(number):
    sessions[number] = [f"item {number} of {i}" for i in range(200)]


number = 0
while True:
    remember(number)
    number += 1
    time.sleep(0.03)
