"""Addresses of the chat page and of the partials that htmx fetches for it."""

from django.urls import path

from chat import conversation_views, feedback_views, plain_form, source_views, views

app_name = "chat"
urlpatterns = [
    path("", views.conversation, name="new"),
    path("c/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/rename/", conversation_views.rename, name="rename"),
    path("c/<uuid:conversation_id>/title/", conversation_views.title, name="title"),
    path("c/<uuid:conversation_id>/pin/", conversation_views.pin, name="pin"),
    path("c/<uuid:conversation_id>/delete/", conversation_views.delete, name="delete"),
    path("c/<uuid:conversation_id>/restore/", conversation_views.restore, name="restore"),
    path("c/<uuid:conversation_id>/wait/", plain_form.wait, name="wait"),
    path("ask/", plain_form.ask, name="ask"),
    path("sidebar/", conversation_views.sidebar, name="sidebar"),
    path("documents/status/", views.document_status, name="document_status"),
    path("messages/<uuid:message_id>/", views.message, name="message"),
    path("messages/<uuid:message_id>/feedback/", feedback_views.feedback, name="feedback"),
    path("messages/<uuid:message_id>/sources/", source_views.sources, name="sources"),
    path("messages/<uuid:message_id>/sources/<int:rank>/", source_views.source, name="source"),
    path(
        "messages/<uuid:message_id>/sources/<int:rank>/text/",
        source_views.source_text,
        name="source_text",
    ),
    path(
        "messages/<uuid:message_id>/citations/<int:ordinal>/",
        source_views.citation,
        name="citation",
    ),
    path(
        "messages/<uuid:message_id>/citations/<int:ordinal>/text/",
        source_views.citation_text,
        name="citation_text",
    ),
]
