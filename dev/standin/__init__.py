"""A stand-in for a language model: plain word rules behind an OpenAI-compatible API. Not a model.

`words.judge` holds the rules, `server.running_standin` starts it inside a test,
`python -m dev.standin --port N` starts it for the demo.
"""
