package at.alpen.node;

import com.codahale.metrics.MetricRegistry;
import com.github.benmanes.caffeine.cache.CaffeineSpec;
import io.dropwizard.auth.AuthFilter;
import io.dropwizard.auth.AuthenticationException;
import io.dropwizard.auth.Authenticator;
import io.dropwizard.auth.CachingAuthenticator;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.SecurityContext;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** RFC 6750: bearer tokens in the field Authorization. */
@Priority(Priorities.AUTHENTICATION)
public class TokenFilter extends AuthFilter<String, Konto> {
    private static final Pattern FELD = Pattern.compile("Bearer(?: +(.*))?", Pattern.CASE_INSENSITIVE);
    private final TokenDienst verbund;
    private final TokenDienst test;
    private final Authenticator<String, Konto> betrieb;

    TokenFilter(TokenDienst verbund, TokenDienst test, MetricRegistry metriken) {
        this.verbund = verbund;
        this.test = test;
        Authenticator<String, Konto> a = verbund::pruefen;
        if (NodeConfiguration.is("dw-ahorn")) {
            a = new CachingAuthenticator<>(metriken, a, CaffeineSpec.parse("maximumSize=10000,expireAfterAccess=5m"));
        } else if (NodeConfiguration.is("dw-birke")) {
            a = token -> verbund.pruefen(token).or(() -> test.pruefen(token));
        }
        betrieb = a;
    }

    private static boolean zulaessig(Konto konto, String empfaenger) {
        String e = konto.client().empfaenger();
        return e.equals(empfaenger) || NodeConfiguration.is("dw-birke") && e.equals("test");
    }

    @Override
    public void filter(ContainerRequestContext context) {
        boolean testbetrieb = context.getUriInfo().getPath().startsWith("alpen-test/");
        TokenDienst dienst = testbetrieb ? test : verbund;
        List<String> felder = context.getHeaders().get("Authorization");
        if (felder != null && felder.size() > 1) {
            throw new Fehler(400, "Das Feld Authorization kommt mehrfach vor.")
                .mit("WWW-Authenticate", "Bearer realm=\"" + dienst.realm + "\", error=\"invalid_request\"");
        }
        Matcher m = felder == null || felder.isEmpty() ? null : FELD.matcher(felder.get(0).trim());
        if (m == null || !m.matches()) {
            throw new Fehler(401, "Ein Zugriffstoken wird gebraucht.")
                .mit("WWW-Authenticate", "Bearer realm=\"" + dienst.realm + "\"");
        }
        String token = m.group(1) == null ? "" : m.group(1);
        Optional<Konto> konto;
        try {
            konto = testbetrieb ? test.pruefen(token) : betrieb.authenticate(token);
        } catch (AuthenticationException e) {
            throw new IllegalStateException(e);
        }
        String empfaenger = testbetrieb ? "test" : "funding";
        if (konto.isEmpty() || !zulaessig(konto.get(), empfaenger)) {
            throw new Fehler(401, "Das Zugriffstoken gilt nicht oder nicht mehr.").mit("WWW-Authenticate",
                "Bearer realm=\"" + dienst.realm + "\", error=\"invalid_token\", error_description=\"not valid or expired\"");
        }
        Konto k = konto.get();
        context.setSecurityContext(new SecurityContext() {
            @Override
            public Principal getUserPrincipal() {
                return k;
            }

            @Override
            public boolean isUserInRole(String role) {
                return k.rollen().contains(role);
            }

            @Override
            public boolean isSecure() {
                return false;
            }

            @Override
            public String getAuthenticationScheme() {
                return "Bearer";
            }
        });
    }
}
