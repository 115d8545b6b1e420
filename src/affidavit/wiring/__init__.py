"""The only place where adapters meet ports: worlds that run, and by which key they are sealed."""

from affidavit.wiring.chats import (
    ChatPlace,
    chat_world,
    incident_in,
    kept_order,
    tenant_knowledge,
)
from affidavit.wiring.resuming import world_again
from affidavit.wiring.sealing import (
    Sealing,
    head_signer,
    head_teller,
    recheck_file,
    retraction_sign,
    sealing_of,
    trust_in,
)
from affidavit.wiring.standing import standing_of, true_retractions
from affidavit.wiring.worlds import (
    Listen,
    LiveOrder,
    ceilings_of,
    gate_world,
    guards_of,
    incident_world,
    live_incident,
    live_world,
    models_of,
    new_run_id,
    refuse_unsafe_service,
    request_of,
    standard_guards,
)

__all__ = [
    "ChatPlace",
    "Listen",
    "LiveOrder",
    "Sealing",
    "ceilings_of",
    "chat_world",
    "gate_world",
    "guards_of",
    "head_signer",
    "head_teller",
    "incident_in",
    "incident_world",
    "kept_order",
    "live_incident",
    "live_world",
    "models_of",
    "new_run_id",
    "recheck_file",
    "refuse_unsafe_service",
    "request_of",
    "retraction_sign",
    "sealing_of",
    "standard_guards",
    "standing_of",
    "tenant_knowledge",
    "true_retractions",
    "trust_in",
    "world_again",
]
