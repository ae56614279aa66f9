package at.alpen.node;

import jakarta.annotation.Priority;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Context;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Set;
import java.util.stream.Collectors;

/** What is looked at before a resource sees a request. */
final class Eingang {
    private Eingang() {}

    /** Dropwizard answers methods that it does not know with a 405 that lacks Allow: Jersey knows better. */
    static class Methoden implements Filter {
        private static final Set<String> BEKANNT = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            HttpServletRequest r = (HttpServletRequest) request;
            chain.doFilter(new HttpServletRequestWrapper(r) {
                @Override
                public String getMethod() {
                    return BEKANNT.contains(r.getMethod()) ? r.getMethod() : "PATCH";
                }

                @Override
                public Enumeration<String> getHeaders(String name) {
                    // Jersey stumbles over empty elements
                    if (name.equalsIgnoreCase("Accept") || name.equalsIgnoreCase("Accept-Language")) {
                        return Collections.enumeration(Collections.list(super.getHeaders(name)).stream().map(Eingang::liste).filter(s -> !s.isEmpty()).toList());
                    }
                    return super.getHeaders(name);
                }
            }, response);
        }
    }

    /** a list without its empty elements (RFC 9110, 5.6.1.2) and with plain blanks */
    static String liste(String feld) {
        return Arrays.stream(feld.replace('\t', ' ').split(",")).map(String::strip).filter(s -> !s.isEmpty()).collect(Collectors.joining(", "));
    }

    /** whether the most specific range that covers application/json has the weight 0 */
    private static boolean ausgeschlossen(String accept) {
        int genau = 0;
        boolean aus = false;
        for (String bereich : accept.split(",")) {
            String[] teile = bereich.trim().toLowerCase(java.util.Locale.ROOT).split("\\s*;\\s*");
            int stufe = teile[0].equals("application/json") ? 3 : teile[0].equals("application/*") ? 2 : teile[0].equals("*/*") ? 1 : 0;
            if (stufe > genau) {
                genau = stufe;
                aus = java.util.Arrays.stream(teile).anyMatch(t -> t.matches("q=0(\\.0{0,3})?"));
            }
        }
        return aus;
    }

    /** Query strings that are not well encoded, and answers that nobody wants. */
    @Priority(Priorities.AUTHORIZATION + 100)
    static class Abfrage implements ContainerRequestFilter {
        @Context
        HttpServletRequest anfrage;

        @Override
        public void filter(ContainerRequestContext context) {
            String abfrage = anfrage.getQueryString();
            if (abfrage != null && TokenDienst.dekodiert(abfrage) == null) {
                throw new Fehler(400, "Die Abfrage ist nicht richtig kodiert.");
            }
            // Jersey overlooks a q of 0
            String pfad = context.getUriInfo().getPath();
            String accept = context.getHeaderString("Accept");
            if (accept != null && pfad.startsWith(Ausschreibungen.BASIS) && !pfad.endsWith("api-docs") && ausgeschlossen(accept)) {
                throw new Fehler(406, "Angeboten wird nur application/json.");
            }
        }
    }
}
