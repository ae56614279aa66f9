module halle

go 1.26.8

require github.com/uptrace/bunrouter v1.0.23
