#!/bin/sh
# builds java/target/node.jar, once
cd "$(dirname "$0")/java" && mvn -q -B package
