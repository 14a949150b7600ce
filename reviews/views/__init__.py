"""The reviewers' pages. Every one needs a person with a permission; an API key opens none."""
