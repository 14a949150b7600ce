"""How good verdicts and decisions are: samples that are looked at again, and what they say."""
