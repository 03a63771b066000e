"""Addresses of a person's account, beside those of allauth."""

from django.urls import path

from chat.accounts import own_data, usage, views

app_name = "accounts"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("tokens/", views.token_list, name="tokens"),
    path("tokens/new/", views.make_token, name="make_token"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="revoke_token"),
    path("password/reset/", views.reset_password, name="reset_password"),
    path("oidc/<slug:provider_id>/login/", views.single_sign_on, name="single_sign_on"),
    path("sessions/<int:pk>/end/", views.end_session, name="end_session"),
    path("usage/", usage.page, name="usage"),
    path("data/", own_data.page, name="own_data"),
    path("data/export/", own_data.export, name="export_own_data"),
    path("data/conversations/", own_data.erase_conversations, name="erase_conversations"),
    path("data/account/", own_data.erase_account, name="erase_account"),
]
