from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, re_path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from reviews.lists import BY_SLUG
from reviews.views.finding import show_author, show_decisions, show_search
from reviews.views.item import show_item
from reviews.views.lists import show_disagreements, show_list, start
from reviews.views.saved_views import change_view, show_views

SLUGS = "|".join(BY_SLUG)

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="review-home")),
    path("review/", RedirectView.as_view(url="/review/needs-review/"), name="review-home"),
    re_path(rf"^review/(?P<slug>{SLUGS})/$", show_list, name="review-list"),
    re_path(rf"^review/(?P<slug>{SLUGS})/start/$", start, name="review-start"),
    path("review/disagreements/", show_disagreements, name="review-disagreements"),
    path("review/search/", show_search, name="review-search"),
    path("review/views/", show_views, name="review-views"),
    path("review/views/<int:view_id>/", change_view, name="review-view"),
    path("review/decisions/", show_decisions, name="review-decisions"),
    path("review/authors/<uuid:public_id>/", show_author, name="review-author"),
    path("review/items/<int:item_id>/", show_item, name="review-item"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="set-language"),
]
