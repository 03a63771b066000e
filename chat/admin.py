"""What staff see of conversations and assistants."""

from django.contrib import admin

from chat.admin_assistants import AssistantAdmin
from chat.admin_conversations import ConversationAdmin
from chat.admin_limits import LimitAdmin
from chat.models import Assistant, Conversation
from retrieval.limits.models import Limit

admin.site.register(Assistant, AssistantAdmin)
admin.site.register(Conversation, ConversationAdmin)
admin.site.register(Limit, LimitAdmin)
