from django.conf import settings
from django.db import models
from oauth2_provider.settings import oauth2_settings


class ServiceAccount(models.Model):
    """What the funding service knows of the account behind an OAuth client."""
    application = models.OneToOneField(oauth2_settings.APPLICATION_MODEL, on_delete=models.CASCADE,
                                       related_name="account")
    user_id = models.CharField(max_length=60)
    realm = models.CharField(max_length=20)
    audience = models.CharField(max_length=60)
    role = models.CharField(max_length=60, null=True)
    affiliation_id = models.CharField(max_length=60)


class Funder(models.Model):
    id = models.CharField(max_length=20, primary_key=True)
    name = models.CharField(max_length=200)
    city = models.CharField(max_length=80)
    country = models.CharField(max_length=2)
    website = models.CharField(max_length=200)


class Call(models.Model):
    id = models.CharField(max_length=20, primary_key=True)
    kind = models.CharField(max_length=20)
    title = models.CharField(max_length=300)
    title_en = models.CharField(max_length=300, null=True)
    summary = models.TextField()
    folded = models.TextField()
    funder = models.ForeignKey(Funder, on_delete=models.PROTECT)
    opens = models.DateField()
    deadline = models.DateField(null=True)
    budget_eur = models.BigIntegerField(null=True)
    topics = models.JSONField()
    updated_at = models.DateTimeField()


class Stage(models.Model):
    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="stages")
    number = models.IntegerField()
    date = models.DateField()
    label = models.CharField(max_length=80)
