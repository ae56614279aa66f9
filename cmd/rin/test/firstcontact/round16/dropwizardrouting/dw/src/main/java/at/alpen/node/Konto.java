package at.alpen.node;

import java.security.Principal;
import java.time.Instant;
import java.util.Set;

/** An account, seen through one of its tokens. */
public record Konto(Konten.Client client, Instant ablauf) implements Principal {
    @Override
    public String getName() {
        return client.id();
    }

    public Set<String> rollen() {
        return client.rollen();
    }
}
