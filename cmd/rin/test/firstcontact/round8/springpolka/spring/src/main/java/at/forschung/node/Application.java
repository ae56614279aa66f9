package at.forschung.node;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class Application {
    private static final String NODE = System.getenv().getOrDefault("NODE", "spring-base");
    static final String BASE = "http://127.0.0.1:" + System.getenv().getOrDefault("PORT", "8080");

    /** Which variant of the node runs. */
    static boolean is(String name) {
        return NODE.equals("spring-" + name);
    }

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }
}
