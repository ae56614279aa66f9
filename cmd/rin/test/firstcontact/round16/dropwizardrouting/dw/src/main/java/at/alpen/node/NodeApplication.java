package at.alpen.node;

import com.fasterxml.jackson.databind.SerializationFeature;
import io.dropwizard.auth.AuthDynamicFeature;
import io.dropwizard.auth.AuthValueFactoryProvider;
import io.dropwizard.configuration.EnvironmentVariableSubstitutor;
import io.dropwizard.configuration.ResourceConfigurationSourceProvider;
import io.dropwizard.configuration.SubstitutingSourceProvider;
import io.dropwizard.core.Application;
import io.dropwizard.core.setup.Bootstrap;
import io.dropwizard.core.setup.Environment;
import io.dropwizard.jdbi3.JdbiFactory;
import org.glassfish.jersey.server.ServerProperties;
import org.glassfish.jersey.server.filter.RolesAllowedDynamicFeature;
import org.jdbi.v3.core.Jdbi;

public class NodeApplication extends Application<NodeConfiguration> {
    public static void main(String[] args) throws Exception {
        new NodeApplication().run(args.length > 0 ? args : new String[] {"server", "config.yml"});
    }

    @Override
    public String getName() {
        return "alpen-funding";
    }

    @Override
    public void initialize(Bootstrap<NodeConfiguration> bootstrap) {
        bootstrap.setConfigurationSourceProvider(new SubstitutingSourceProvider(
            new ResourceConfigurationSourceProvider(), new EnvironmentVariableSubstitutor(false)));
    }

    @Override
    public void run(NodeConfiguration configuration, Environment environment) {
        environment.getObjectMapper().disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS);
        Jdbi jdbi = new JdbiFactory().build(environment, configuration.database, "h2");
        Daten.fuellen(jdbi);

        TokenDienst verbund = new TokenDienst("verbund", Konten.BETRIEB);
        TokenDienst test = new TokenDienst("alpen-test", Konten.TEST);

        var jersey = environment.jersey();
        // so that HEAD knows the length, too
        jersey.property(ServerProperties.OUTBOUND_CONTENT_LENGTH_BUFFER, 1 << 20);
        jersey.register(new AuthDynamicFeature(new TokenFilter(verbund, test, environment.metrics())));
        jersey.register(RolesAllowedDynamicFeature.class);
        jersey.register(new AuthValueFactoryProvider.Binder<>(Konto.class));
        jersey.register(new Fehler.Allgemein());
        jersey.register(new Fehler.Parameter());
        jersey.register(new Zugang(verbund, test));
        jersey.register(new Auskunft());
        jersey.register(new Ausschreibungen(jdbi, new Antworten(environment.getObjectMapper())));

        jersey.register(new Eingang.Abfrage());
        environment.servlets().addFilter("methods", new Eingang.Methoden()).addMappingForUrlPatterns(null, false, "/*");

        var fehlerseite = new Fehler.Seite();
        environment.getApplicationContext().setErrorHandler(fehlerseite);
        environment.lifecycle().addServerLifecycleListener(server -> server.setErrorHandler(fehlerseite));
    }
}
