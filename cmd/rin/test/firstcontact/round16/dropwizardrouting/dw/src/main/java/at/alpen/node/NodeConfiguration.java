package at.alpen.node;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.dropwizard.core.Configuration;
import io.dropwizard.db.DataSourceFactory;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;

public class NodeConfiguration extends Configuration {
    @Valid
    @NotNull
    @JsonProperty
    public DataSourceFactory database = new DataSourceFactory();

    /** the name of the node that runs; empty or "dw-base" is the plain one */
    static boolean is(String... names) {
        String node = System.getenv().getOrDefault("NODE", "");
        for (String n : names) {
            if (n.equals(node)) {
                return true;
            }
        }
        return false;
    }
}
