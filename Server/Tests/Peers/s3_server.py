"""A store that speaks the protocol of S3, with signatures that are checked by botocore, on the loopback.

    s3_server.py PICTURE OTHER-PICTURE

Prints one line of JSON with its port and keys, and ends when its standard input does.
"""

import json
import os
import sys

os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", AWS_DEFAULT_REGION="eu-west-1")
os.environ.pop("AWS_PROFILE", None)

import boto3
import requests
from botocore.config import Config
from moto.server import ThreadedMotoServer

KEYS = [
    "a.jpg", "folder/a b.jpg", "plus+and&more=1.jpg", "100%.jpg", "literal%20.jpg", "\u00e4\u00f6\u65e5\u672c.jpg",
    "/leading.jpg", "double//slash.jpg", "trailing.jpg/", "what?.jpg", "hash#1.jpg", "semi;colon,'(x)!*$@:~.jpg",
    "back\\slash.jpg", "quote\"<>^`{|}.jpg", "acl", "%2e%2e.jpg",
]

picture, other = (open(name, "rb").read() for name in sys.argv[1:3])
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"


def client(name):
    return boto3.client(name, endpoint_url=address, config=Config(s3={"addressing_style": "path"}))


store, users = client("s3"), client("iam")
for bucket in ["photos", "private", "under_score"]:
    store.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
for key in KEYS:
    store.put_object(Bucket="photos", Key=key, Body=picture)
store.put_object(Bucket="photos", Key="asked.jpg", Body=picture, CacheControl="no-cache", ContentType="image/jpeg")
store.put_object(Bucket="private", Key="secret.jpg", Body=other)
store.put_object(Bucket="under_score", Key="a.jpg", Body=picture)
store.put_bucket_versioning(Bucket="photos", VersioningConfiguration={"Status": "Enabled"})
former = store.put_object(Bucket="photos", Key="versioned.jpg", Body=other)["VersionId"]
store.put_object(Bucket="photos", Key="versioned.jpg", Body=picture)

policy = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": "s3:*",
         "Resource": ["arn:aws:s3:::photos", "arn:aws:s3:::photos/*", "arn:aws:s3:::under_score/*"]},
    ],
}
users.create_user(UserName="reader")
users.put_user_policy(UserName="reader", PolicyName="read", PolicyDocument=json.dumps(policy))
key = users.create_access_key(UserName="reader")["AccessKey"]
role = users.create_role(RoleName="reader", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": []}))
users.put_role_policy(RoleName="reader", PolicyName="read", PolicyDocument=json.dumps(policy))
session = client("sts").assume_role(RoleArn=role["Role"]["Arn"], RoleSessionName="test")["Credentials"]
# From here on each request is checked.
requests.post(f"{address}/moto-api/reset-auth", data=b"0").raise_for_status()
print(json.dumps({
    "port": port, "accessKey": key["AccessKeyId"], "secretKey": key["SecretAccessKey"], "former": former,
    "keys": KEYS,
    "session": {name: session[name] for name in ["AccessKeyId", "SecretAccessKey", "SessionToken"]},
}), flush=True)
sys.stdin.read()
server.stop()
