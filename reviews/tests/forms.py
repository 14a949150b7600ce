"""What a browser sends of a form, read from the page."""

import html as markup
import re


def form_values(html: str) -> dict[str, str | list[str]]:
    """The values of every field of the page, as if nobody touched them."""
    found: dict[str, str | list[str]] = {}
    for attributes in re.findall(r"<input ([^>]*)>", html):
        name = re.search(r'name="([^"]+)"', attributes)
        value = re.search(r'value="([^"]*)"', attributes)
        box = 'type="checkbox"' in attributes
        if name and (not box or "checked" in attributes):
            found[name[1]] = markup.unescape(value[1]) if value else "on" if box else ""
    for name, text in re.findall(r'<textarea name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', html):
        found[name] = markup.unescape(text).replace("\n", "\r\n")  # as browsers send line breaks
    selects = r'<select name="([^"]+)"([^>]*)>(.*?)</select>'
    for name, attributes, options in re.findall(selects, html, re.DOTALL):
        chosen = re.findall(r'value="([^"]*)" selected', options)
        if "multiple" in attributes:
            found[name] = chosen
        else:
            found[name] = (chosen or re.findall(r'value="([^"]*)"', options))[0]
    return found
