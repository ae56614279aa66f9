package org.rin.spring;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;

@ConfigurationProperties("node")
public record NodeProperties(String variant, String origin, List<Client> clients, List<Client> stagingClients) {

    public record Client(String id, String secret, String serviceAccount, String affiliation, String audience,
                         List<String> roles) {
        public Client {
            roles = roles == null ? List.of() : roles.stream().filter(r -> !r.isBlank()).toList();
        }
    }

    public boolean is(String name) {
        return name.equals(variant);
    }
}
