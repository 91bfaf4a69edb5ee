def text(record, viewer=None):
    raise NotImplementedError
