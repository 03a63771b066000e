"""Addresses of the chat page and of the partials that htmx fetches for it."""

from django.urls import path

from chat import views

app_name = "chat"
urlpatterns = [
    path("", views.conversation, name="new"),
    path("c/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/rename/", views.rename, name="rename"),
    path("c/<uuid:conversation_id>/delete/", views.delete, name="delete"),
    path("sidebar/", views.sidebar, name="sidebar"),
    path("documents/status/", views.document_status, name="document_status"),
    path("messages/<uuid:message_id>/", views.message, name="message"),
    path("messages/<uuid:message_id>/sources/", views.sources, name="sources"),
    path("messages/<uuid:message_id>/sources/<int:rank>/", views.source, name="source"),
    path("messages/<uuid:message_id>/citations/<int:ordinal>/", views.citation, name="citation"),
]
