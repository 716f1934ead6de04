#!/bin/sh
echo "hello from the sandbox"
