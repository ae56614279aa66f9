module restfulnode

go 1.24

require github.com/emicklei/go-restful/v3 v3.14.0
