"""Summaries of hyperparameters: what an experiment varies, and the values of one run."""

from __future__ import annotations

from typing import Any

from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams.api_pb2 import (
    DATA_TYPE_FLOAT64,
    DATA_TYPE_STRING,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.metadata import (
    EXPERIMENT_TAG,
    PLUGIN_DATA_VERSION,
    PLUGIN_NAME,
    SESSION_END_INFO_TAG,
    SESSION_START_INFO_TAG,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

from ...tensors.state.base import TensorBase
from ._convert_np import make_np

# The kinds of values: their classes, and the number and the field of the kind. PyTorch takes a bool for a number.
_KINDS: tuple[tuple[Any, Any, str], ...] = (
    ((int, float), DATA_TYPE_FLOAT64, "number_value"), (str, DATA_TYPE_STRING, "string_value"))


def hparams(hparam_dict: Any = None, metric_dict: Any = None, hparam_domain_discrete: Any = None) -> Any:
    """Three summaries: of the experiment, of the start of the run with its hyperparameters, and of its end.

    A hyperparameter is a bool, a number, a string or a tensor of one element. None is left out. Raises ValueError for
    other values, and TypeError for arguments that are no dicts.
    """
    for given, name in ((hparam_dict, "hparam_dict"), (metric_dict, "metric_dict")):
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    domains = hparam_domain_discrete or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for key, values in domains.items():
        if key not in hparam_dict or not isinstance(values, list) or not all(
                isinstance(value, type(hparam_dict[key])) for value in values):
            raise TypeError(f"parameter: hparam_domain_discrete[{key}] should be a list of same type as "
                            f"hparam_dict[{key}].")
    start, infos = SessionStartInfo(), []
    for key, value in hparam_dict.items():
        if value is None:
            continue
        if isinstance(value, TensorBase):
            value = make_np(value)[()].item()
        infos.append(_described(start, key, value, domains.get(key)))
    metrics = [MetricInfo(name=MetricName(tag=key)) for key in metric_dict]
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return (_summary(EXPERIMENT_TAG, experiment=Experiment(hparam_infos=infos, metric_infos=metrics)),
            _summary(SESSION_START_INFO_TAG, session_start_info=start),
            _summary(SESSION_END_INFO_TAG, session_end_info=end))


def _described(start: Any, key: str, value: Any, domain: list[Any] | None) -> Any:
    """Note the value of a hyperparameter in `start`, and return what the experiment says of the hyperparameter."""
    known = [(kind, field) for classes, kind, field in _KINDS if isinstance(value, classes)]
    if not known:
        raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
    ((kind, field),) = known
    setattr(start.hparams[key], field, value)
    values = None if domain is None else struct_pb2.ListValue(
        values=[struct_pb2.Value(**{field: one}) for one in domain])
    return HParamInfo(name=key, type=kind, domain_discrete=values)


def _summary(tag: str, **content: Any) -> Any:
    data = HParamsPluginData(version=PLUGIN_DATA_VERSION, **content)
    plugin = SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME, content=data.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin))])
