"""The stand-in's Files and Batch API: whoever sends a file of questions gets files of answers."""
