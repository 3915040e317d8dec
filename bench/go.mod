module github.com/earshot-dev/earshot/bench

go 1.26.0
