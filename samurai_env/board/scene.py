def scene(record, viewer=None, last=()):
    raise NotImplementedError
