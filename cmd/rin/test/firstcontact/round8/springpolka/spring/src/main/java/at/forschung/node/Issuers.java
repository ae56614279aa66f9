package at.forschung.node;

import com.nimbusds.jose.JOSEException;

import org.springframework.stereotype.Component;

/** The authorization server of the node and the one for tests. */
@Component
class Issuers {
    private final Issuer production;
    private final Issuer staging;

    Issuers() throws JOSEException {
        String base = Application.BASE;
        production = new Issuer(base + "/realms/forschung", base + "/realms/forschung/protocol/openid-connect/token",
            base + "/forschung", "forschung", Application.is("es256") ? 613 : 900, Clients.PRODUCTION);
        staging = new Issuer(base + "/test", base + "/test/oauth/token", base + "/test/forschung", "forschung-test", 600, Clients.STAGING);
    }

    Issuer production() {
        return production;
    }

    Issuer staging() {
        return staging;
    }
}
