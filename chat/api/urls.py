"""Where each API is; chat/accounts/bearer.py lets its requests sign in by themselves."""

from chat.api.langgraph import api as langgraph
from chat.api.langgraph.wire import detail
from chat.api.mounting import mount
from chat.api.native import api as native
from chat.api.native import docs, problems
from chat.api.openai import api as openai
from chat.api.r2r import api as r2r

urlpatterns = [
    mount("api/v1/", native.api, problems.problem, docs.page),
    mount("openai/v1/", openai.api, openai.shape),
    mount("r2r/", r2r.api, r2r.detail, r2r.two_slashes),
    mount("langgraph/", langgraph.api, detail),
]
