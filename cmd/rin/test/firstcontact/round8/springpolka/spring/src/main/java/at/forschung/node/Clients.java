package at.forschung.node;

import java.util.List;

/** The clients of both authorization servers. Test data, no real secrets. */
final class Clients {
    private Clients() { }

    record Client(String id, String secret, String account, String affiliation, boolean ownApi, List<String> scopes, List<String> roles) { }

    static final List<Client> PRODUCTION = List.of(
            new Client("d_4lRmIAroGaYbcl_RghszHn44lPDZWwp9KZZrCY4-qw",
                "weRk7thDYGMLqLn83ObqkugruagGgIAcPLNAH7ouG4H6bMUipf03y63xmYXUIJShgw6cctVWDU-TvIPijHVqOxO6",
                "dienst-7f1c", "A-0017", true, List.of("info:lesen", "ausschreibungen:lesen"), List.of("EXTERNAL_API_CLIENT")),
            new Client("1wQHypVuR0Jq7uO_6Icg66fWCsxdcMghL3gC6nalN-5j",
                "59L8QegJC0ktmJT6Gi2dRGb-QYLyImbsUi1wWQcwh8wFtoxdYyjHHnTe5bchW5x14ov2MwT_HoquNAReuw6NX2N9",
                "dienst-80aa", "A-0018", true, List.of("info:lesen", "ausschreibungen:lesen"), List.of()),
            new Client("Wacxk1q3K-_4l6ciQsDGS5npVGsZAacZLv4aiY-nXwfG",
                "0IoXOC5dWc44VUX2Pm1ilNAjXOCEmDm7Ul2qcP188qgyXkDZy_AxzwkhEN1KlEwKUIMipizwoJ36ZUGs5wbH-lmj",
                "dienst-91d3", "A-0017", false, List.of("organigramm:lesen", "ausschreibungen:lesen"), List.of("EXTERNAL_API_CLIENT")),
            new Client("UHIV-DLLe-GuzosewAqcw3GrObMSH5NPdM8x1IqduZbz",
                "t825jkuvzWUVmiu8ggVVvQm0nF_fDg_6XBxI_PmTz8Wy9Y_GlqpzxCFNZheXO4UQ87vc_gXZz8GwuaeWrcpNjjGi",
                "dienst-a2e4", "A-0021", true, List.of("info:lesen", "ausschreibungen:lesen"), List.of("EXTERNAL_API_CLIENT")));

    static final List<Client> STAGING = List.of(
            new Client("7hg-rgaWNVmJ6E7RRwxJt7wFHHwmE-8H_ABiGPNfw_SM",
                "7ApyuC0lFHLUyIQXntFvbp-yZ9yAFX6OxixeuchlAWSSzLVD_OEHHY596vd54KerMiAWEmShbZy8BDUtDQ9TMqfe",
                "dienst-test", "A-9999", true, List.of("info:lesen", "ausschreibungen:lesen"), List.of("EXTERNAL_API_CLIENT")));
}
