"""What notebooks show of objects: tables of HTML."""

from html import escape


def table(title, facts):
    """Two columns; what is None is left out."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
        if value is not None
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def kernel_html(kernel, name):
    """`name`: as the source has it."""
    attributes = kernel.attributes
    try:
        signature = kernel.signature
    except NotImplementedError:
        signature = None
    facts = {
        "name": name,
        "parameters": signature,
        "registers a thread": attributes.num_regs,
        "shared memory a block": f"{attributes.shared_size_bytes} bytes",
        "local memory a thread": f"{attributes.local_size_bytes} bytes",
        "most threads a block": attributes.max_threads_per_block,
    }
    return table("Kernel", facts)


def stream_html(stream, description):
    """`description`: its repr. A stream that is closed, or whose context is gone, has no more than that."""
    try:
        facts = {
            "device": stream.device,
            "handle": f"{int(stream.handle):#x}",
            "priority": stream.priority,
            "waits for the default stream": "no" if stream.is_nonblocking else "yes",
        }
    except Exception:  # whatever it is, a notebook that shows a stream is not the place for it
        facts = {"stream": description}
    return table("Stream", facts)


def timer_html(stream, times, unread):
    """`times`: of the runs that have been read; there are `unread` more."""
    facts = {"stream": stream, "runs": len(times) + unread}
    if times:
        facts |= {"last": f"{times[-1]:.4f} ms", "mean": f"{sum(times) / len(times):.4f} ms"}
        facts |= {"least": f"{min(times):.4f} ms", "most": f"{max(times):.4f} ms"}
    if unread:
        facts["not read yet"] = unread
    return table("Timer", facts)
