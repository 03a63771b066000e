"""Addresses of documents' files."""

from django.urls import path

from retrieval import views

app_name = "documents"
urlpatterns = [path("<uuid:version_id>/", views.file, name="file")]
