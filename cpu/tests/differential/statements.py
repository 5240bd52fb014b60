"""What the bodies of random programs are made of; `program.py` draws them."""

from dataclasses import dataclass, field, fields, is_dataclass


@dataclass
class Operate:
    """results = operation(operands); an operand is a variable's name or an int."""

    operation: object
    results: list
    operands: list
    guard: str | None = None  # a predicate variable
    negated: bool = False


@dataclass
class Transfer:
    """The bits of one variable in another of the same width. From a float to integers a NaN becomes all its exponent's
    and fraction's bits; `clean` does the same to a float in place."""

    result: str
    source: str


@dataclass
class Load:
    """result = memory[index + offset] modulo the place's size: `input` (the region of the result's kind), `local`."""

    result: str
    place: str
    width: int
    signed: bool
    index: str
    offset: int


@dataclass
class LocalStore:
    width: int
    index: str
    source: str


@dataclass
class StoreExtra:
    """A word of the thread's own results, written on the way."""

    word: int
    source: str


@dataclass
class If:
    condition: str
    negated: bool
    then: list
    otherwise: list


@dataclass
class Loop:
    """count + 1 rounds at most; `count` is a variable masked with `mask`, or mask alone if it is None."""

    count: str | None
    mask: int
    body: list
    depth: int


@dataclass
class Switch:
    index: str
    cases: list  # of lists of statements; a power of two of them


@dataclass
class Leave:
    """`break`, `continue` or `return`."""

    how: str


@dataclass
class Accumulate:
    """A global atomic operation without a result, on the accumulator of that operation."""

    slot: int
    source: str


@dataclass
class Call:
    function: int
    results: list
    arguments: list


@dataclass
class Exchange:
    """Each thread puts a word into shared memory and, past a barrier, takes one from elsewhere."""

    result: str
    source: str
    how: str  # rotate, xor, byte, variable, wide
    amount: int
    index: str


@dataclass
class SharedAtomic:
    """Atomic operations on a few words of shared memory between barriers, then each thread reads one."""

    result: str
    operation: str
    source: str
    index: str
    initial: int


@dataclass
class Warp:
    """A warp operation (or `block.`, a barrier that reduces) of all lanes or, with `condition`, of those for which it
    holds: the others skip `then` too."""

    operation: str
    results: list
    operands: list
    constant: int = 0
    segment: int = 32
    condition: str | None = None
    then: list = field(default_factory=list)


@dataclass
class Repeat:
    """A loop of the same number of rounds for all, in which lanes may converge."""

    rounds: int
    body: list
    counted: str  # a variable to which the number of the round is added


@dataclass
class Function:
    parameters: list
    results: list
    body: list


def statements_in(statements):
    """They and all within them, outer before inner."""
    for statement in statements:
        yield statement
        for inner in fields(statement):
            value = getattr(statement, inner.name)
            if isinstance(value, list) and value and (isinstance(value[0], list) or is_dataclass(value[0])):
                for one in value if isinstance(value[0], list) else [value]:
                    yield from statements_in(one)
