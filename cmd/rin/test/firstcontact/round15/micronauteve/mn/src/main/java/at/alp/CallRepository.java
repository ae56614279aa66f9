package at.alp;

import io.micronaut.data.jdbc.annotation.JdbcRepository;
import io.micronaut.data.model.query.builder.sql.Dialect;
import io.micronaut.data.repository.CrudRepository;
import io.micronaut.data.repository.jpa.JpaSpecificationExecutor;

@JdbcRepository(dialect = Dialect.H2)
public interface CallRepository extends CrudRepository<CallEntity, String>, JpaSpecificationExecutor<CallEntity> { }
