package at.alpen.node;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

public final class Konten {
    public static final String ROLLE = "EXTERNAL_API_CLIENT";

    public record Client(String id, String secret, String user, Set<String> rollen, String einrichtung, String empfaenger) {}

    public static final Map<String, Client> BETRIEB = map(List.of(
        new Client("alpen-abruf", "A7/x+%2Bq=&u:9~Lw!zR%", "dk-20417", Set.of(ROLLE), "E-1004", "funding"),
        new Client("alpen-gast", "g=5%&Kp+/:Q~8!nDv%26", "dk-20533", Set.of(), "E-1011", "funding"),
        new Client("alpen-personal", "h/+3:%w=T&y~6!Jc%7E", "dk-20561", Set.of(ROLLE), "E-1004", "personal"),
        new Client("alpen-ersatz", "e%25=+9/Zs&:B!4~fXm", "dk-20618", Set.of(ROLLE), "E-1020", "funding")));

    public static final Map<String, Client> TEST = map(List.of(
        new Client("alpen-probe", "t&1=%Vd+/:k~7!Rg%3F", "dk-test-1", Set.of(ROLLE), "E-TEST", "test")));

    private static Map<String, Client> map(List<Client> list) {
        return list.stream().collect(Collectors.toMap(Client::id, Function.identity()));
    }
}
