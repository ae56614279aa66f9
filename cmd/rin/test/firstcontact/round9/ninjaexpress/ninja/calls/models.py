"""Data model of the node (Django ORM on SQLite)."""
from django.db import models


class Funder(models.Model):
    slug = models.CharField(max_length=20, primary_key=True)
    name = models.CharField(max_length=200)
    country = models.CharField(max_length=2)
    website = models.URLField()
    ror = models.CharField(max_length=60, null=True)


class TargetGroup(models.Model):
    code = models.CharField(max_length=40, primary_key=True)


class Call(models.Model):
    reference = models.CharField(max_length=20, primary_key=True)
    funder = models.ForeignKey(Funder, on_delete=models.PROTECT, related_name="calls")
    funding_type = models.CharField(max_length=20)
    title_de = models.CharField(max_length=300)
    title_en = models.CharField(max_length=300, null=True)
    summary_de = models.TextField()
    opens_on = models.DateField()
    closes_at = models.DateTimeField(null=True)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    own_share = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    currency = models.CharField(max_length=3)
    target_groups = models.ManyToManyField(TargetGroup, related_name="calls")
    contact_name = models.CharField(max_length=100)
    contact_email = models.EmailField()
    modified_at = models.DateTimeField()


class ApiClient(models.Model):
    """A client of the production or of the staging authorization server."""
    client_id = models.CharField(max_length=80, primary_key=True)
    secret_hash = models.CharField(max_length=64)
    realm = models.CharField(max_length=20)
    audience = models.CharField(max_length=200)
    role = models.CharField(max_length=40, null=True)
    affiliation = models.CharField(max_length=60, null=True)


class AccessToken(models.Model):
    digest = models.CharField(max_length=64, primary_key=True)
    client = models.ForeignKey(ApiClient, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()
