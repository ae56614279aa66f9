package at.alpen.node;

import com.fasterxml.jackson.annotation.JsonTypeName;
import io.dropwizard.jetty.HttpConnectorFactory;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.server.HttpConfiguration;

/** Jetty's cache of fields takes a token for another one that differs in case only, unless it is told not to. */
@JsonTypeName("http-exact")
public class ExactHttpConnectorFactory extends HttpConnectorFactory {
    public ExactHttpConnectorFactory() {
        // RFC 9112, 3.2.2: with a target in absolute form the field Host is to be ignored
        setHttpCompliance(HttpCompliance.RFC7230.with("absolute", HttpCompliance.Violation.MISMATCHED_AUTHORITY));
    }

    @Override
    protected HttpConfiguration buildHttpConfiguration() {
        HttpConfiguration c = super.buildHttpConfiguration();
        c.setHeaderCacheCaseSensitive(true);
        return c;
    }
}
