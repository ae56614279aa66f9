package at.alp;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.data.annotation.Id;
import io.micronaut.data.annotation.MappedEntity;

/** A funding call. Times are seconds since 1970; topics and groups are stored as ",A,B,". */
@MappedEntity("funding_call")
public record CallEntity(
    @Id String id, String titleDe, String titleEn, String descriptionDe, String descriptionEn, String searchDe, String searchEn,
    String funderId, String topics, String targetGroups, boolean international, long opensAt, @Nullable Long deadline,
    @Nullable String deadlineDay, long budgetCents, int maxRate, String website, long updatedAt, @Nullable Long stageOne) { }
