"""Addresses of a person's account, beside those of allauth."""

from django.urls import path

from chat.accounts import views

app_name = "accounts"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("tokens/", views.token_list, name="tokens"),
    path("tokens/new/", views.make_token, name="make_token"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="revoke_token"),
    path("password/reset/", views.reset_password, name="reset_password"),
    path("sessions/<int:pk>/end/", views.end_session, name="end_session"),
]
