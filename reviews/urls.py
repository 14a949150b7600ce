from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, re_path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from reviews.lists import BY_SLUG
from reviews.views import moving
from reviews.views.bulk import decide_chosen
from reviews.views.calibration import settle_one, show_calibration
from reviews.views.differences import show_differences
from reviews.views.drafts import keep_draft
from reviews.views.evaluation import add_to_set, download_set, show_set, show_sets, take_out
from reviews.views.finding import show_author, show_decisions, show_search
from reviews.views.item import reveal, show_item
from reviews.views.lists import show_disagreements, show_list
from reviews.views.pause import pause
from reviews.views.preferences import show_preferences, switch_keys
from reviews.views.quality import show_misses, show_quality
from reviews.views.reporter import show_reporter
from reviews.views.saved_views import change_view, show_views
from reviews.views.second import undo_second
from reviews.views.undo import undo

SLUGS = "|".join(BY_SLUG)

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="review-home")),
    path("review/", RedirectView.as_view(url="/review/needs-review/"), name="review-home"),
    re_path(rf"^review/(?P<slug>{SLUGS})/$", show_list, name="review-list"),
    re_path(rf"^review/(?P<slug>{SLUGS})/start/$", moving.start, name="review-start"),
    re_path(rf"^review/(?P<slug>{SLUGS})/bulk/$", decide_chosen, name="review-bulk"),
    path("review/disagreements/", show_disagreements, name="review-disagreements"),
    path("review/quality/", show_quality, name="review-quality"),
    path("review/quality/missed/", show_misses, name="review-misses"),
    path("review/pause/", pause, name="review-pause"),
    path("review/preferences/", show_preferences, name="review-preferences"),
    path("review/search/", show_search, name="review-search"),
    path("review/views/", show_views, name="review-views"),
    path("review/views/<int:view_id>/", change_view, name="review-view"),
    path("review/decisions/", show_decisions, name="review-decisions"),
    path("review/authors/<uuid:public_id>/", show_author, name="review-author"),
    path("review/reporters/<uuid:public_id>/", show_reporter, name="review-reporter"),
    path("review/items/<int:item_id>/", show_item, name="review-item"),
    path("review/items/<int:item_id>/claim/", moving.keep_claim, name="review-claim"),
    path("review/items/<int:item_id>/skip/", moving.skip, name="review-skip"),
    path("review/items/<int:item_id>/release/", moving.release, name="review-release"),
    path("review/items/<int:item_id>/put-aside/", moving.put_aside, name="review-put-aside"),
    path("review/items/<int:item_id>/hand-over/", moving.hand_over, name="review-hand-over"),
    path("review/decisions/<int:decision_id>/undo/", undo, name="review-undo"),
    path("review/second-reviews/<int:second_id>/undo/", undo_second, name="review-undo-second"),
    path("review/items/<int:item_id>/reveal/", reveal, name="review-reveal"),
    path("review/items/<int:item_id>/draft/", keep_draft, name="review-draft"),
    path("review/preferences/keys/", switch_keys, name="review-keys"),
    # Calibration, differences, evaluation sets.
    path("review/quality/to-settle/", show_calibration, name="review-calibration"),
    path("review/quality/to-settle/<int:review_id>/", settle_one, name="review-settle"),
    path("review/quality/differences/", show_differences, name="review-differences"),
    path("review/quality/evaluation/", show_sets, name="review-evaluation"),
    path("review/quality/evaluation/cases/add/", add_to_set, name="review-add-case"),
    path(
        "review/quality/evaluation/cases/<int:case_id>/take-out/",
        take_out,
        name="review-take-out-case",
    ),
    path("review/quality/evaluation/<slug:set_name>/", show_set, name="review-evaluation-set"),
    path(
        "review/quality/evaluation/<slug:set_name>/cases.jsonl",
        download_set,
        name="review-evaluation-file",
    ),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="set-language"),
]
