"""The messages that an answering model gets, and how its reply is read."""

from ragassay.answer.messages import DEFAULT_TEMPLATE, TEMPLATES, Template, build_messages, template_named
from ragassay.answer.reply import check_reply

__all__ = ["DEFAULT_TEMPLATE", "TEMPLATES", "Template", "build_messages", "check_reply", "template_named"]
