"""What can be set: one module a table of `affidavit.toml`, all of them documented.

    table      the shape of a table, and the kinds of values: durations, money, lists
    agent      [agent]      limits by profile, guards, plug-ins
    policy     [policy]     who may call what
    models     [models]     who investigates, who judges, what a token costs
    ceilings   [ceilings]   what a tenant, and everybody, may spend in a day
    retention  [retention]  how long payloads live
    server     [server]     where the service listens, where incidents and keys lie
    delivery   [delivery]   who is told of results, and how
    chat       [chat], [knowledge]  which branches a turn may take, where indexed pages lie
    signing    [signing]    where keys lie, whom to believe, where sealed runs are told of
    reading    the file and the variables, and the refusal of what is no setting (F25)

A further table is a `Table` in a module of its own and one field of `Settings`; its variables and
its lines in `docs/settings.md` (`make docs`) follow from that.
"""

from affidavit.settings.reading import CONFIG_NAME, read_settings
from affidavit.settings.table import PREFIX, Setting, named_tables_of, settings_of, variable_of
from affidavit.settings.whole import Settings

__all__ = [
    "CONFIG_NAME",
    "PREFIX",
    "Setting",
    "Settings",
    "named_tables_of",
    "read_settings",
    "settings_of",
    "variable_of",
]
