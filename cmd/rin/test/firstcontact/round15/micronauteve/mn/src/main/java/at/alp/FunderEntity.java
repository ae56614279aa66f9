package at.alp;

import io.micronaut.data.annotation.Id;
import io.micronaut.data.annotation.MappedEntity;

@MappedEntity("funder")
public record FunderEntity(@Id String id, String nameDe, String nameEn, String acronym, String country) { }
