"""What the modules of the specifications share."""

from . import _wgmax


def results(dialect, operator, version, inputs, attributes, outputs=1, nan=None, device=None):
    """The result of an operator of a specification, or a tuple of several.

    Attributes that are None are left out, and so are inputs that are None at the end.
    """
    inputs = list(inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    given = {name: value for name, value in attributes.items() if value is not None}
    found = _wgmax.node(dialect, operator, version, given, inputs, outputs, nan, device)
    return found[0] if len(found) == 1 else tuple(found)
