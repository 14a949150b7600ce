"""The senders' HTTP interface, version 1."""
