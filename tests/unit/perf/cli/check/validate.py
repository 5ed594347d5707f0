# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# validate.py SCHEMA FILE: whether a JSON file is as a JSON Schema wants it. The schema of SARIF here is that of OASIS (sarif-spec,
# sarif-2.1/schema, errata 01) without its descriptions.
import json
import sys

try:
    from jsonschema.validators import validator_for
except ImportError:
    print('skipped: no jsonschema for python3 (Debian: python3-jsonschema)')
    sys.exit(77)

with open(sys.argv[1]) as file:
    schema = json.load(file)
with open(sys.argv[2]) as file:
    errors = sorted(validator_for(schema)(schema).iter_errors(json.load(file)), key=str)
for error in errors:
    print(f'{sys.argv[2]}: {error.json_path}: {error.message}')
sys.exit(bool(errors))
