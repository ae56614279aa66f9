from django.urls import URLResolver, include, path
from tastypie.api import Api

from . import api, oauth, problems

v3 = Api(api_name="v3")
for resource in (api.CallResource, api.FunderResource, api.DeadlineResource, api.StatisticsResource):
    v3.register(resource())

urlpatterns = [
    path("registry/network.json", api.registry),
    path("realms/ris/protocol/openid-connect/token", oauth.RealmTokenView.as_view()),
    path("uhb-staging/oauth/token", oauth.StagingTokenView.as_view()),
    path("uhb/info/v1/oauth/info/", api.info),
    path("uhb-staging/info/v1/oauth/info/", api.staging_info),
    path("uhb/funding/v3/api-docs", api.api_docs),
    path("uhb/funding/", include([p for p in v3.urls if isinstance(p, URLResolver)])),
]
handler404 = problems.not_found
handler500 = problems.server_error
handler400 = problems.bad_request
